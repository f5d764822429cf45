// On a narrow screen the sidebar covers the page: choosing a link closes it, as Streamlit's own navigation does.
const NARROW = "(max-width: 768px)";

export default function () {
  const sidebar = document.querySelector('[data-testid="stSidebar"]');
  const close = (event) => {
    if (!event.target.closest("a") || !matchMedia(NARROW).matches) return;
    setTimeout(() => sidebar.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click());
  };
  sidebar?.addEventListener("click", close);
  return () => sidebar?.removeEventListener("click", close);
}
