/**
 * Parts that the steps of all pages share: states, calls of the API, and the meaning of its errors.
 *
 * @typedef {{
 *   view: string,
 *   texts: Record<string, string>,
 *   notice?: string,
 *   fault?: Fault,
 * }} State  The visible view, its texts by name, and the reason why the last step failed.
 * @typedef {{ text: string, field?: string }} Fault
 * @typedef {{
 *   status: number,
 *   body: Record<string, unknown>,
 *   retry_after_s?: number,
 * }} Reply  Status 0 if no reply arrived.
 * @typedef {(
 *   method: 'POST' | 'PUT',
 *   path: string,
 *   sent: { body: object, access_token?: string },
 * ) => Promise<Reply>} Call
 */

/**
 * Returns the token in the fragment of a link; undefined without one.
 *
 * @param {string} hash
 * @returns {string | undefined}
 */
export function readToken(hash) {
  const token = new URLSearchParams(hash.replace(/^#/, '')).get('token')
  return token === null || token === '' ? undefined : token
}

/** @type {(reply: Reply) => boolean} */
export function isSuccess({ status }) {
  return status >= 200 && status < 300
}

/** @type {(reply: Reply) => unknown} */
export function codeOf({ body }) {
  return body['code']
}

/**
 * Explains an error of the API. `field` replaces the name of a field in the request.
 *
 * @param {Reply} reply
 * @param {string} [field]
 * @returns {Fault}
 */
export function faultOf({ status, body, retry_after_s }, field) {
  if (status === 429) {
    return { text: `Too many attempts. Try again ${toWait(retry_after_s ?? 60)}.` }
  }
  if (status === 0 || status >= 500) {
    return { text: 'Looptrace is unavailable. Try again in a minute.' }
  }
  const errors = /** @type {{ pointer: string, detail: string }[]} */ (body['errors'] ?? [])
  const [first] = errors
  const detail = printable(String(first?.detail ?? body['detail'] ?? '')).trim()
  const text = detail === '' ? 'The request failed. Try again.' : detail
  if (first === undefined) return { text }
  return { text, field: field ?? first.pointer.replace(/^\//, '') }
}

/** @type {(seconds: number) => string} */
function toWait(seconds) {
  if (!(seconds > 0)) return 'now'
  const [amount, unit] =
    seconds < 90 ? [Math.ceil(seconds), 'second'] : [Math.ceil(seconds / 60), 'minute']
  return `in ${amount} ${unit}${amount === 1 ? '' : 's'}`
}

/**
 * Makes control characters, and characters that change the direction of text, visible as escapes.
 *
 * @param {string} text
 */
export function printable(text) {
  return text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
