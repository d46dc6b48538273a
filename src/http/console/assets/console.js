// Script adds to pages that work without it: copying ids, "/" for the search, pages that renew themselves.

// in the page's language
const { textCopy, textCopied, textFailed } = document.body.dataset;

enhance(document);

function enhance(root) {
  for (const element of root.querySelectorAll('[data-copy]')) {
    if (!navigator.clipboard) break;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = textCopy;
    button.setAttribute('aria-label', `${textCopy} ${element.dataset.copy}`);
    button.addEventListener('click', () => {
      navigator.clipboard.writeText(element.dataset.copy).then(
        () => say(button, textCopied),
        () => say(button, textFailed),
      );
    });
    element.after(button);
  }

  // a second press of a button must not send a form twice
  for (const form of root.querySelectorAll('form[method="post"]')) {
    form.addEventListener('submit', (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = 'yes';
    });
  }
}

function say(button, text) {
  button.textContent = text;
  setTimeout(() => {
    button.textContent = textCopy;
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

window.addEventListener('pageshow', (event) => {
  if (event.persisted) for (const form of document.querySelectorAll('form')) delete form.dataset.sent;
});

// the page's content is exchanged in place, so that its scroll position and the reader's place in the menu stay
async function refresh() {
  const main = document.querySelector('main');
  if (document.visibilityState !== 'visible' || main.contains(document.activeElement)) return;
  // with its language and its filters; a notice was read
  const address = new URL(location.href);
  address.searchParams.delete('done');
  address.hash = '';
  const answer = await fetch(address);
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  // the session is over, or the run has ended: load the page itself
  if (answer.redirected || !answer.ok || !fresh.body.dataset.refreshS) location.replace(address);
  const open = [...main.querySelectorAll('details')].map((one) => one.open);
  main.replaceChildren(...fresh.querySelector('main').childNodes);
  for (const [index, one] of [...main.querySelectorAll('details')].entries()) one.open = open[index] === true;
  enhance(main);
}
const refreshS = Number(document.body.dataset.refreshS);
// a failed request is repeated at the next turn
if (refreshS > 0) setInterval(() => void refresh().catch(() => undefined), refreshS * 1000);

// on a phone the navigation is a strip that scrolls: begin where we are. Not by scrollIntoView: Tab would start there
const here = document.querySelector('nav [aria-current]');
const strip = here?.closest('nav');
if (strip) strip.scrollLeft += here.getBoundingClientRect().left - (strip.clientWidth - here.offsetWidth) / 2;
