  // recorded gives the record of a request its buttons.
  function recorded(box, number) {
    const record = box.querySelector("#record"), copy = box.querySelector("button.copy");
    copy.parentElement.hidden = false;
    copy.onclick = async () => { try { await navigator.clipboard.writeText(record.textContent); copy.textContent = "Copied"; } catch { getSelection().selectAllChildren(record); copy.textContent = "Selected"; } setTimeout(() => { copy.textContent = "Copy"; }, 1500); };
    box.querySelector("button.save").onclick = () => download(new Blob([record.textContent], {type: "application/json"}), number + ".json");
  }
