import { codeOf, faultOf, isSuccess, printable } from './replies.js'

/**
 * The steps of the page that a link of a message about an incident opens. Nothing happens before a
 * person confirms: programs that read mails and messages open links too.
 *
 * @typedef {import('./replies.js').Call} Call
 * @typedef {import('./replies.js').Reply} Reply
 * @typedef {import('./replies.js').State} State
 */

const links = '/api/v2/observability/incident-links'
const actions = ['ack', 'resolve', 'snooze']

/**
 * Creates the steps of the page. The view has the name of the action: `ack`, `resolve` or `snooze`.
 *
 * @param {{ token: string | undefined, call: Call }} options
 */
export function createIncidentFlow({ token, call }) {
  /** @type {Record<string, string>} */
  let texts = {}
  let action = ''

  /** @type {(view: string, more?: Partial<State>) => State} */
  const show = (view, more) => ({ view, texts, ...more })

  /** @type {(view: string, reply: Reply) => State} */
  const fail = (view, reply) => {
    if (codeOf(reply) === 'incident_link_not_found') return show('ended')
    return show(view, { fault: faultOf(reply) })
  }

  return {
    /** Reads what the link does, and to which incident. */
    open: async () => {
      if (token === undefined) return show('no_link')
      const reply = await call('POST', `${links}/lookup`, { body: { token } })
      if (!isSuccess(reply)) return fail('failed', reply)
      const given = String(reply.body['action'])
      if (!actions.includes(given)) {
        return show('failed', { fault: { text: 'This page is old. Open the link again.' } })
      }
      action = given
      texts = incidentTexts(reply)
      return show(action)
    },
    /**
     * Does what the link is for.
     *
     * @param {{ note?: string, for?: string }} fields
     * @returns {Promise<State>}
     */
    confirm: async ({ note = '', for: length }) => {
      if (action === '') return show('no_link')
      const given = { ...(note.trim() !== '' && { note: note.trim() }) }
      const body = { token, ...given, ...(action === 'snooze' && { for: length }) }
      const reply = await call('POST', `${links}/confirm`, { body })
      if (!isSuccess(reply)) return fail(action, reply)
      texts = { ...texts, ...incidentTexts(reply) }
      return show(`${action}_done`)
    },
  }
}

/** @type {(reply: Reply) => Record<string, string>} */
function incidentTexts({ body }) {
  const text = (/** @type {string} */ field) => printable(String(body[field] ?? ''))
  const until = body['snoozed_until']
  return {
    title: `#${text('number')} ${text('title')}`,
    state: text('state'),
    severity: text('severity'),
    project: text('project'),
    opened_at: minuteOf(text('opened_at')),
    snoozed_until: typeof until === 'string' ? minuteOf(printable(until)) : '',
  }
}

/** @type {(instant: string) => string} */
function minuteOf(instant) {
  return `${instant.slice(0, 16).replace('T', ' ')} UTC`
}
