  const filter = document.getElementById("metricfilter");
  if (filter) {
    filter.closest("label").hidden = false;
    filter.oninput = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of document.querySelectorAll("#metrics tbody tr")) {
        const text = (row.dataset.tag + " " + row.cells[0].textContent).toLowerCase();
        row.hidden = !words.every(w => text.includes(w));
      }
    };
  }
  // The report replaces the page when it is ready.
  async function wait() {
    for (let failures = 0; failures < 5;) {
      try {
        const reply = await fetch("/api/r/" + data.id + "/report", {cache: "no-store"});
        if ((await reply.json()).ready) { location.reload(); return; }
      } catch {
        failures++;
        await new Promise(done => setTimeout(done, 1000 * failures));
      }
    }
  }
  if (data.pending) wait();
  finished();
