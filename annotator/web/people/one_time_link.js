// A page that is opened by a one-time link. The link's token is in the address's fragment, which browsers do not send: it is
// taken out of the address, so that it stays in no history, and posted by the form. Also lets a reader see the password.

const openLink = () => {
  const form = document.querySelector("#open-link");
  const field = document.querySelector("#open-link input[name=token]");
  const token = location.hash.slice(1);
  if (!(form instanceof HTMLFormElement) || !(field instanceof HTMLInputElement) || !token) return;
  history.replaceState(null, "", location.pathname);
  field.value = token;
  form.submit();
};

const offerToShowPassword = () => {
  const field = document.querySelector("#password");
  const box = document.querySelector("#show-password");
  if (!(field instanceof HTMLInputElement) || !(box instanceof HTMLInputElement)) return;
  box.closest("label")?.removeAttribute("hidden");
  box.addEventListener("change", () => (field.type = box.checked ? "text" : "password"));
  field.form?.addEventListener("submit", () => (field.type = "password")); // so that browsers offer to keep it as one
};

addEventListener("hashchange", openLink);
openLink();
offerToShowPassword();
