import { createInvitationFlow, createResetFlow } from './account-flows.js'
import { createIncidentFlow } from './incident-flow.js'
import { readToken } from './replies.js'

/**
 * Connects the steps of a page to its elements. Texts of the API are written as text, never as
 * markup.
 *
 * @typedef {import('./replies.js').State} State
 * @typedef {import('./replies.js').Call} Call
 * @typedef {(fields: Record<string, string>) => State | Promise<State>} Step
 */

/** @type {Record<string, Step>} */
let flow = {}
/** @type {Record<string, (options: { token: string | undefined, call: Call }) => object>} */
const flows = {
  invitation: createInvitationFlow,
  'reset-password': createResetFlow,
  incident: createIncidentFlow,
}
let isBusy = false
const main = /** @type {HTMLElement} */ (document.querySelector('main'))
const status = /** @type {HTMLElement} */ (document.getElementById('status'))

for (const form of document.forms) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const fields = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form)))
    run(form.dataset['step'] ?? '', fields)
  })
}
for (const button of allOf('button[data-step]')) {
  button.addEventListener('click', () => run(button.dataset['step'] ?? '', {}))
}
for (const element of allOf('[data-origin]')) element.textContent = location.origin
// A second link that is opened in the same tab changes only the fragment.
addEventListener('hashchange', () => {
  if (location.hash !== '') start()
})
start()

/** Reads the link, removes its token from the address bar, and shows the first view. */
function start() {
  const token = readToken(location.hash)
  history.replaceState(null, '', location.pathname)
  const create = flows[main.dataset['page'] ?? '']
  flow = /** @type {Record<string, Step>} */ (create?.({ token, call }) ?? {})
  isBusy = false
  run('open', {})
}

/**
 * Runs a step and shows its view. The result of a step of an earlier link is dropped.
 *
 * @param {string} name
 * @param {Record<string, string>} fields
 */
async function run(name, fields) {
  const step = flow[name]
  if (isBusy || step === undefined) return
  const started = flow
  setBusy(true)
  const state = await step(fields)
  if (started !== flow) return
  setBusy(false)
  show(state)
}

/** @param {boolean} busy */
function setBusy(busy) {
  isBusy = busy
  main.setAttribute('aria-busy', String(busy))
  status.textContent = busy ? 'One moment…' : ''
}

/** @param {State} state */
function show({ view, texts, notice = '', fault }) {
  const isNew = main.dataset['view'] !== view
  main.dataset['view'] = view
  for (const element of allOf('[data-views]')) {
    element.hidden = !(element.dataset['views'] ?? '').split(' ').includes(view)
  }
  if (isNew) for (const form of document.forms) form.reset()
  for (const element of allOf('[data-text]')) {
    const text = texts[element.dataset['text'] ?? ''] ?? ''
    if (element instanceof HTMLInputElement) element.value = text
    else element.textContent = text
  }
  for (const element of allOf('.notice')) element.textContent = notice
  for (const element of allOf('.fault')) element.textContent = fault?.text ?? ''
  focusOn(fault?.field, isNew)
}

/**
 * Marks the field with the fault and moves the focus to it, or to the heading of a new view.
 *
 * @param {string | undefined} field
 * @param {boolean} isNew
 */
function focusOn(field, isNew) {
  for (const input of allOf('input')) input.removeAttribute('aria-invalid')
  const inputs = allOf(`input[name="${CSS.escape(field ?? '')}"]`)
  const faulty = inputs.find((input) => input.checkVisibility())
  if (faulty !== undefined) {
    faulty.setAttribute('aria-invalid', 'true')
    faulty.focus()
    return
  }
  if (isNew)
    allOf('h2')
      .find((heading) => heading.checkVisibility())
      ?.focus()
}

/** @type {Call} */
async function call(method, path, { body, access_token }) {
  try {
    const reply = await fetch(path, {
      method,
      credentials: 'omit',
      headers: {
        'content-type': 'application/json',
        ...(access_token !== undefined && { authorization: `Bearer ${access_token}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await reply.text()
    const retry_after_s = Number(reply.headers.get('retry-after') ?? 60)
    return { status: reply.status, body: text === '' ? {} : JSON.parse(text), retry_after_s }
  } catch {
    return { status: 0, body: {} }
  }
}

/**
 * @param {string} selector
 * @returns {HTMLElement[]}
 */
function allOf(selector) {
  return [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(selector))]
}
