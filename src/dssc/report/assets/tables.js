  // The table of clusters: sorting, and folding of a long one.
  const FEW = 25;
  const clusterTable = document.querySelector(".sortable");
  const rows = [...clusterTable.tBodies[0].rows];
  const value = (row, column) => Number(row.cells[column].dataset.v);
  let unfolded = rows.length <= FEW;

  function showRows(order) {
    order.forEach((row, i) => row.classList.toggle("folded", !unfolded && i >= FEW));
    clusterTable.tBodies[0].append(...order);
  }
  if (!unfolded) {
    const more = makeButton(`Show all ${rows.length}`, () => {
      unfolded = true;
      more.remove();
      showRows([...clusterTable.tBodies[0].rows]);
    });
    clusterTable.parentElement.after(make("p", "tools", more));
    showRows(rows);
  }
  clusterTable.querySelectorAll(".sort").forEach((button) =>
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const column = head.cellIndex;
      const rising = head.getAttribute("aria-sort") !== "ascending";
      clusterTable.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const sign = rising ? 1 : -1;
      showRows([...rows].sort((a, b) => sign * (value(a, column) - value(b, column)) || value(a, 0) - value(b, 0)));
    })
  );

