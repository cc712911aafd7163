  // Charts of points: a circle for each, hollow for a doubtful one, texts that do not cover one another.
  function circle(ctx, x, y, r, hollow) {
    ctx.lineWidth = 1.8 * r;
    ctx.beginPath();
    ctx.arc(x, y, 3.6 * r, 0, 2 * Math.PI);
    if (hollow) { ctx.fillStyle = colour("panel"); ctx.fill(); ctx.stroke(); } else ctx.fill();
  }
  // texts writes a text beside each point {x, y, text}; one that would cover another, or a point, is left out.
  function texts(ctx, box, r, list) {
    const taken = list.map(({x, y}) => [x - 4 * r, y - 4 * r, x + 4 * r, y + 4 * r]); // points
    lettering(ctx, 10.5, "bottom", "left");
    for (const {x, y, text} of list) {
      if (!text) continue;
      const w = ctx.measureText(text).width, from = x + w + 8 * r > box.left + box.width ? x - w - 6 * r : x + 6 * r;
      const up = y - 20 * r < box.top ? y + 18 * r : y - 4 * r, area = [from, up - 12 * r, from + w, up];
      if (taken.some(t => area[0] < t[2] && t[0] < area[2] && area[1] < t[3] && t[1] < area[3])) continue;
      taken.push(area);
      ctx.fillText(text, from, up);
    }
  }
  // nearest returns the index of the point that is nearest to the cursor in both directions, within so many pixels.
  function nearest(u, xs, ys, most = Infinity) {
    let best = null, least = most ** 2;
    xs.forEach((x, i) => {
      const d = (u.valToPos(x, "x") - u.cursor.left) ** 2 + (u.valToPos(ys[i], "y") - u.cursor.top) ** 2;
      if (d < least) { least = d; best = i; }
    });
    return best;
  }
  // efficient returns the points that no other one is as good as on both axes and better on one; x and y are values of a
  // point, of which the larger is better.
  const efficient = (points, x, y) => points.filter(p => !points.some(q => x(q) >= x(p) && y(q) >= y(p) && (x(q) > x(p) || y(q) > y(p))));
