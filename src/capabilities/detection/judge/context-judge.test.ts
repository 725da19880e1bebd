import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { agentRun } from '../../../../test/corpus/agent-run.ts'
import { runOf } from '../../../../test/support/detect-one.ts'
import { createContextJudge, type JudgeSettings, type JudgeSpend } from './context-judge.ts'
import { buildQuestion, getJudgeableDigests } from './question.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

type Got = { authorization: string | undefined; body: string; path: string | undefined }

/** A model that answers with this content, and the requests it received. */
async function model(content: string, status = 200): Promise<{ url: string; got: Got[] }> {
  const got: Got[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    got.push({ authorization: request.headers.authorization, body, path: request.url })
    response.writeHead(status, {
      location: 'http://127.0.0.1:1/',
      'content-type': 'application/json',
    })
    response.end(JSON.stringify({ choices: [{ message: { content } }] }))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, got }
}

const run = runOf(
  agentRun('judged').system('Always answer in French.').user('Bonjour').assistant('Hello!'),
)
const breach = '{"breaches":[{"statement":0,"answer":0,"why":"It is English."}]}'
const now_ms = Date.UTC(2026, 0, 2, 3)

function spendUpTo(): JudgeSpend & { booked: Map<string, bigint> } {
  const booked = new Map<string, bigint>()
  return {
    booked,
    book: async ({ project_id, day, nano_dollars, max }) => {
      const sum = (booked.get(`${project_id} ${day}`) ?? 0n) + nano_dollars
      if (sum > max) return false
      booked.set(`${project_id} ${day}`, sum)
      return true
    },
  }
}

const settingsFor = (url: string, more: Partial<JudgeSettings> = {}): JudgeSettings => ({
  url,
  model: 'judge-1',
  api_key: 'secret-of-the-judge',
  allowed_hosts: ['127.0.0.1'],
  timeout_ms: 5_000,
  nano_dollars_per_token: 1_000n,
  nano_dollars_per_day_max: 10_000_000n,
  ...more,
})

/** Asks about the whole run. */
function asked(settings: JudgeSettings, spend: JudgeSpend = spendUpTo(), at_ms = now_ms) {
  const question = buildQuestion(run, undefined)
  if (question === undefined) throw new Error('there is nothing to ask')
  return createContextJudge(settings, spend)({ run, question, now_ms: at_ms })
}

test('adds the breaches that the model names, marked as judged', async () => {
  const { url, got } = await model(breach)
  const judgement = await asked(settingsFor(url))
  expect(judgement).toMatchObject({
    outcome: 'answered',
    findings: [
      {
        type: 'lost_context',
        severity: 'low',
        start_step: 0,
        confidence: 0.6,
        evidence: {
          judge: 'judge-1',
          original_context: 'Always answer in French.',
          violation: 'It is English.',
        },
      },
    ],
  })
  expect(got).toMatchObject([
    { path: '/v1/chat/completions', authorization: 'Bearer secret-of-the-judge' },
  ])
  expect(
    JSON.stringify(judgement, (_key, value) => (typeof value === 'bigint' ? '' : value)),
  ).not.toContain('secret-of')
})

test('sends no authorization without a key', async () => {
  const { url, got } = await model(breach)
  await asked(settingsFor(url, { api_key: undefined }))
  expect(got).toMatchObject([{ authorization: undefined }])
})

test('ignores breaches of statements it was not given', async () => {
  const { url } = await model('{"breaches":[{"statement":7,"answer":0,"why":"x"}]}')
  expect(await asked(settingsFor(url))).toEqual({ outcome: 'answered', findings: [] })
})

test('stops at the daily budget of a project', async () => {
  const { url, got } = await model(breach)
  const spend = spendUpTo()
  const settings = settingsFor(url, { nano_dollars_per_day_max: 1_800_000n })
  await asked(settings, spend)
  expect(await asked(settings, spend)).toEqual({
    outcome: 'over_budget',
    reason: 'the daily budget is spent',
  })
  expect(await asked(settings, spend, now_ms + 86_400_000)).toMatchObject({ outcome: 'answered' })
  expect(got).toHaveLength(2)
})

test.each([
  ['no JSON', 'I think so.', 200, 'the answer does not have the requested form'],
  ['an error', breach, 500, 'the endpoint answered 500'],
  ['a redirect', breach, 307, 'the endpoint answered 307'],
])('%s adds nothing', async (_what, content, status, reason) => {
  const { url } = await model(content, status)
  expect(await asked(settingsFor(url))).toEqual({ outcome: 'failed', reason })
})

test('fails if the model does not answer in time', async () => {
  const server = createServer(() => undefined)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const settings = settingsFor(`http://127.0.0.1:${port}/v1`, { timeout_ms: 100 })
  const reason = 'the endpoint took too long'
  expect(await asked(settings)).toEqual({ outcome: 'failed', reason })
})

test.each(['127.0.0.1', 'localhost', '[::ffff:0:7f00:1]', '[3fff::1]'])(
  'does not connect to %s unless it is allowed',
  async (host) => {
    const { url, got } = await model(breach)
    const settings = settingsFor(url.replace('127.0.0.1', host), { allowed_hosts: [] })
    expect(await asked(settings)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/public/),
    })
    expect(got).toEqual([])
  },
)

test('asks nothing about a run without statements', () => {
  const plain = runOf(agentRun('plain').user('Hello').assistant('Hello!'))
  expect(buildQuestion(plain, undefined)).toBeUndefined()
})

test('asks only about new answers of a grown run', () => {
  const grown = runOf(
    agentRun('judged')
      .system('Always answer in French.')
      .user('Bonjour')
      .assistant('Hello!')
      .user('Et demain ?')
      .assistant('Tomorrow it rains.'),
  )
  const known = getJudgeableDigests(run, undefined)
  expect(buildQuestion(run, undefined, known)).toBeUndefined()
  const question = buildQuestion(grown, undefined, known)
  expect(question?.answers.map(({ answer }) => answer.message.text)).toEqual(['Tomorrow it rains.'])
})

test('asks about an answer with the earlier statements, not later ones', () => {
  const later = runOf(
    agentRun('later')
      .user('Hello')
      .assistant('Hello!')
      .user('Answer in French from now on, please. What about tomorrow?')
      .assistant('Tomorrow it rains.'),
  )
  const question = buildQuestion(later, undefined)
  expect(question?.answers.map(({ answer }) => answer.message.text)).toEqual(['Tomorrow it rains.'])
})
