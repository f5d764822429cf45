// On a narrow screen the sidebar covers the page: choosing a link closes it, as Streamlit's own navigation does.
// A link chosen before the sidebar has caught up with the chosen dataset leads to the chosen one all the same.

const NARROW = "(max-width: 768px)";

/** @param {string} address */
const findDataset = (address) => new URL(address).searchParams.get("dataset");

/**
 * Return the link that was clicked.
 * @param {Event} event
 */
const findLink = (event) => (event.target instanceof Element ? event.target.closest("a") : null);

export default function () {
  const sidebar = document.querySelector('[data-testid="stSidebar"]');
  if (!(sidebar instanceof HTMLElement)) return undefined;
  const listening = new AbortController();

  /** @param {MouseEvent} event */
  const followDataset = (event) => {
    const link = findLink(event);
    const chosen = findDataset(location.href);
    if (!link || !chosen || !findDataset(link.href) || findDataset(link.href) === chosen) return;
    const address = new URL(link.href);
    address.searchParams.set("dataset", chosen);
    if (event.ctrlKey || event.metaKey || event.shiftKey) {
      link.href = String(address); // a tab of its own
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    location.assign(address);
  };

  /** @param {MouseEvent} event */
  const closeIfNarrow = (event) => {
    if (!findLink(event) || !matchMedia(NARROW).matches) return;
    setTimeout(() => {
      const button = sidebar.querySelector('[data-testid="stSidebarCollapseButton"] button');
      if (button instanceof HTMLElement) button.click();
    });
  };

  sidebar.addEventListener("click", followDataset, { capture: true, signal: listening.signal });
  sidebar.addEventListener("click", closeIfNarrow, { signal: listening.signal });
  return () => listening.abort();
}
