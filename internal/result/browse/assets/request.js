  recorded(el("main"), data.number);
  finished();
