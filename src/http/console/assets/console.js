// Script adds to pages that work without it: copying ids, "/" for the search, pages that renew themselves.

for (const element of document.querySelectorAll('[data-copy]')) {
  if (!navigator.clipboard) break;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'copiar';
  button.setAttribute('aria-label', `copiar ${element.dataset.copy}`);
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(element.dataset.copy).then(
      () => say(button, 'copiado'),
      () => say(button, 'não deu'),
    );
  });
  element.after(button);
}

function say(button, text) {
  button.textContent = text;
  setTimeout(() => {
    button.textContent = 'copiar';
  }, 1500);
}

document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, select, textarea');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.querySelector('form[role="search"] input:not([type="hidden"])');
  if (!field) return;
  event.preventDefault();
  field.focus();
});

// a second press of a button must not send a form twice
for (const form of document.querySelectorAll('form[method="post"]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = 'yes';
  });
}
window.addEventListener('pageshow', (event) => {
  if (event.persisted) for (const form of document.querySelectorAll('form')) delete form.dataset.sent;
});

const refreshS = Number(document.body.dataset.refreshS);
if (refreshS > 0) {
  setInterval(() => {
    const isTyping = document.activeElement?.closest('input, select, textarea');
    if (document.visibilityState === 'visible' && !isTyping) location.replace(location.pathname);
  }, refreshS * 1000);
}

// on a phone the navigation is a strip that scrolls: begin where we are. Not by scrollIntoView: Tab would start there
const here = document.querySelector('nav [aria-current]');
const strip = here?.closest('nav');
if (strip) strip.scrollLeft += here.getBoundingClientRect().left - (strip.clientWidth - here.offsetWidth) / 2;
