"use strict";
(() => {
  const table = document.querySelector(".items");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const texts = rows.map((row) => `${row.textContent} ${row.cells[0].title}`.toLowerCase());
  const names = new Intl.Collator(undefined, { numeric: true });

  const find = document.getElementById("find");
  const count = document.getElementById("count");
  const show = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    count.textContent = words.length ? `${shown} of ${rows.length}` : "";
  };
  find.addEventListener("input", show);
  document.querySelector(".find").hidden = false;

  const compare = (column) => (one, other) => {
    const [a, b] = [one.cells[column], other.cells[column]];
    return column ? a.dataset.key - b.dataset.key : names.compare(a.textContent, b.textContent);
  };
  [...table.tHead.rows[0].cells].slice(0, 4).forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const sorted = [...rows].sort(compare(column));
      body.append(...(falling ? sorted.reverse() : sorted));
    });
    head.replaceChildren(button);
  });
})();
