// What this Wine lacks for Go programs. Every Go program loads bcryptprimitives.dll at its start, so this file is the
// place for both repairs:
// ProcessPrng, which the Go runtime seeds itself with, is not there; it is the old RtlGenRandom.
// NtSetInformationFile answers STATUS_NOT_IMPLEMENTED to FileDispositionInformationEx, where systems before Windows 10
// say that they do not know the class, which makes programs delete the older way.
#include <windows.h>
#include <winternl.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T size) { return SystemFunction036(buffer, size); }

typedef NTSTATUS(NTAPI *setter)(HANDLE, PIO_STATUS_BLOCK, PVOID, ULONG, ULONG);
static setter original;

static NTSTATUS NTAPI setInformation(HANDLE file, PIO_STATUS_BLOCK status, PVOID data, ULONG size, ULONG class) {
    if (class == 64 || class == 65) return 0xC0000003; // STATUS_INVALID_INFO_CLASS
    return original(file, status, data, size, class);
}

// The system call's stub is 32 bytes that do not depend on where they are: they are copied, and a jump takes their place.
static void hook(void) {
    enum { stub = 32 };
    BYTE jump[12] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0}; // mov rax, imm64; jmp rax
    void *mine = setInformation;
    DWORD old;
    BYTE *at = (BYTE *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtSetInformationFile");
    BYTE *copy = VirtualAlloc(NULL, stub, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
    if (!at || !copy || at[0] != 0x4C || at[1] != 0x8B || at[2] != 0xD1) return; // mov r10, rcx
    memcpy(copy, at, stub);
    memcpy(jump + 2, &mine, sizeof mine);
    original = (setter)copy;
    if (!VirtualProtect(at, sizeof jump, PAGE_EXECUTE_READWRITE, &old)) return;
    memcpy(at, jump, sizeof jump);
    VirtualProtect(at, sizeof jump, old, &old);
}

BOOL WINAPI DllMain(HINSTANCE dll, DWORD reason, LPVOID reserved) {
    (void)dll, (void)reserved;
    if (reason == DLL_PROCESS_ATTACH) hook();
    return TRUE;
}
