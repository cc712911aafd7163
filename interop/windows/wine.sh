# Sourced after cache.sh: leaves in $wine a script that runs a Windows program in a prefix of its own under $cache.
# It takes Debian's wine64 (8.0) and the C compiler for Windows, which makes what this Wine lacks (bcryptprimitives.c).
debian wine wine wine64
debian x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
wine=$cache/wine
PATH=$PATH:/usr/lib/wine # where Debian keeps what its script "wine" starts
cat >"$wine" <<END
#!/bin/sh
export WINEPREFIX='$cache/prefix' WINEARCH=win64 WINEDEBUG=-all
exec '$(command -v wine64)' "\$@"
END
chmod +x "$wine"
[ -d "$cache/prefix/drive_c/windows/system32" ] || logged "$cache/prefix.log" "$wine" wineboot -i
x86_64-w64-mingw32-gcc -shared -O1 -Wall -o "$cache/prefix/drive_c/windows/system32/bcryptprimitives.dll" \
    "$root/interop/windows/bcryptprimitives.c" -ladvapi32
# The server of the prefix ends with the check.
on_exit "WINEPREFIX='$cache/prefix' $(command -v wineserver64 || command -v wineserver) -k"
