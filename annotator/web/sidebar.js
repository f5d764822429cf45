// On a narrow screen the sidebar covers the page: choosing a link closes it, as Streamlit's own navigation does.
// A link chosen before the sidebar has caught up with the chosen dataset leads to the chosen one all the same.
const NARROW = "(max-width: 768px)";

const datasetOf = (address) => new URL(address).searchParams.get("dataset");

export default function () {
  const sidebar = document.querySelector('[data-testid="stSidebar"]');
  const follow = (event) => {
    const link = event.target.closest("a");
    const chosen = datasetOf(location.href);
    if (!link || !chosen || !datasetOf(link.href) || datasetOf(link.href) === chosen) return;
    const to = new URL(link.href);
    to.searchParams.set("dataset", chosen);
    if (event.ctrlKey || event.metaKey || event.shiftKey) {
      link.href = to; // a tab of its own
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    location.assign(to);
  };
  const close = (event) => {
    if (!event.target.closest("a") || !matchMedia(NARROW).matches) return;
    setTimeout(() => sidebar.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click());
  };
  sidebar?.addEventListener("click", follow, true);
  sidebar?.addEventListener("click", close);
  return () => {
    sidebar?.removeEventListener("click", follow, true);
    sidebar?.removeEventListener("click", close);
  };
}
