import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createInvitationFlow, createResetFlow } from './account-flows.js'
import { createIncidentFlow } from './incident-flow.js'
import { faultOf, readToken } from './replies.js'

type Reply = Parameters<typeof faultOf>[0]

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const pages = {
  invitation: { html: read('invitation.html'), create: createInvitationFlow },
  'reset-password': { html: read('reset-password.html'), create: createResetFlow },
  incident: { html: read('incident.html'), create: createIncidentFlow },
}
const wordsIn = (html: string, attribute: string) =>
  new Set(
    [...html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, 'g'))].flatMap(([, words = '']) =>
      words.split(' '),
    ),
  )

test.each([
  ['#token=lti_abc', 'lti_abc'],
  ['#utm=1&token=lti_abc', 'lti_abc'],
  ['#token=', undefined],
  ['#lti_abc', undefined],
  ['', undefined],
])('the fragment %j has the token %j', (hash, token) => {
  expect(readToken(hash)).toBe(token)
})

test.each<[Partial<Reply>, object]>([
  [{ status: 429, retry_after_s: 1 }, { text: 'Too many attempts. Try again in 1 second.' }],
  [{ status: 429, retry_after_s: 900 }, { text: 'Too many attempts. Try again in 15 minutes.' }],
  [{ status: 429, retry_after_s: 0 }, { text: 'Too many attempts. Try again now.' }],
  [{ status: 0 }, { text: 'Looptrace is unavailable. Try again in a minute.' }],
  [
    { status: 503, body: { detail: 'select 1: connection refused' } },
    { text: 'Looptrace is unavailable. Try again in a minute.' },
  ],
  [
    { status: 400, body: { errors: [{ pointer: '/password', detail: 'Too \u202eshort' }] } },
    { text: 'Too \\u202eshort', field: 'password' },
  ],
  [{ status: 403, body: { detail: 'For another person' } }, { text: 'For another person' }],
  [{ status: 418 }, { text: 'The request failed. Try again.' }],
])('%j is explained as %j', (reply, fault) => {
  expect(faultOf({ status: 200, body: {}, ...reply })).toEqual(fault)
})

describe.each(Object.entries(pages))('%s.html', (name, { html, create }) => {
  const call = async () => ({ status: 0, body: {} })
  const steps = Object.keys(create({ token: 'x', call }))

  test('has only steps of its flow, and a way to each step', () => {
    expect(html).toContain(`<main data-page="${name}">`)
    expect(
      [...wordsIn(html, 'data-step'), ...(name === 'reset-password' ? ['open'] : [])].toSorted(),
    ).toEqual(steps.toSorted())
  })

  test('names every input for people and for password managers', () => {
    const inputs = [...html.matchAll(/<input\b[^>]*>/g)].map(([input]) => input)
    const labels = wordsIn(html, 'for')
    for (const input of inputs) {
      const [id = ''] = wordsIn(input, 'id')
      expect(input.includes(' hidden') || labels.has(id), input).toBe(true)
      expect(input).toMatch(/autocomplete="(name|username|current-password|new-password|off)"/)
      // A browser would cut a pasted password silently.
      if (input.includes('type="password"')) expect(input).not.toContain('maxlength')
    }
    for (const id of [...wordsIn(html, 'aria-describedby'), ...wordsIn(html, 'aria-labelledby')]) {
      expect(html).toContain(` id="${id}"`)
    }
  })

  test('has a view for the outcome of every step, for every answer of the API', async () => {
    const views = wordsIn(html, 'data-views')
    const shown = new Set<string>()
    const phrase = { weight: 3, arbitrary: fc.constant('a phrase of mine') }
    const text = fc.oneof(phrase, fc.string(), fc.constantFrom('\u202e', '<img>'))
    const reply = fc.record({
      status: fc.constantFrom(0, 200, 201, 204, 400, 401, 403, 404, 409, 429, 500, 503),
      body: fc.record(
        {
          code: fc.constantFrom(
            ...['invitation_not_found', 'account_exists', 'password_change_required', 'x'],
            ...['incident_link_not_found', 'incident_state_conflict'],
          ),
          ...{ email: text, organization: text, role: text, detail: text },
          action: fc.constantFrom('ack', 'resolve', 'snooze'),
          errors: fc.array(fc.record({ pointer: text, detail: text }), { maxLength: 2 }),
          tokens: fc.option(fc.record({ access_token: text, refresh_token: text })),
        },
        { requiredKeys: ['tokens'] },
      ),
    })
    const fields = fc.record({
      ...{ password: text, again: text, display_name: text, email: text },
    })
    const step = fc.tuple(fc.constantFrom(...steps), fields)
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(reply),
        fc.boolean(),
        async (taken, replies, hasToken) => {
          const paths: string[] = []
          const flow: Record<string, unknown> = create({
            token: hasToken ? 'lti_secret' : undefined,
            call: async (_method, path) => {
              paths.push(path)
              return replies.next().value
            },
          })
          for (const [at, given] of taken) {
            const run = flow[at] as (fields: object) => unknown
            const state = (await run(given)) as { view: string; fault?: { text: string } }
            expect(views).toContain(state.view)
            if (state.fault !== undefined) expect(state.fault.text).toMatch(/\S/)
            shown.add(state.view)
          }
          expect(paths.join()).not.toContain('lti_secret')
        },
      ),
      { numRuns: 1000 },
    )
    expect([...shown].toSorted()).toEqual([...views].toSorted())
  })
})
