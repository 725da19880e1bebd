import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { agentRun } from '../../../../test/corpus/agent-run.ts'
import { runOf } from '../../../../test/support/detect-one.ts'
import { createContextJudge, type JudgeSettings, type JudgeSpend } from './index.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

type Got = { authorization: string | undefined; body: string; path: string | undefined }

/** A model that answers with this content, and what it was asked. */
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

test('it adds what the model names, marked as its word', async () => {
  const { url, got } = await model(breach)
  const { findings, not_asked } = await createContextJudge(settingsFor(url), spendUpTo())(
    run,
    undefined,
    now_ms,
  )
  expect(not_asked).toBeNull()
  expect(findings).toMatchObject([
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
  ])
  expect(got).toMatchObject([
    { path: '/v1/chat/completions', authorization: 'Bearer secret-of-the-judge' },
  ])
  expect(
    JSON.stringify(findings, (_key, value) => (typeof value === 'bigint' ? '' : value)),
  ).not.toContain('secret-of')
})

test('what it was not given, it can not name', async () => {
  const { url } = await model('{"breaches":[{"statement":7,"answer":0,"why":"x"}]}')
  const judged = await createContextJudge(settingsFor(url), spendUpTo())(run, undefined, now_ms)
  expect(judged).toEqual({ findings: [], not_asked: null })
})

test('the budget of a project and day bounds it', async () => {
  const { url, got } = await model(breach)
  const spend = spendUpTo()
  const judge = createContextJudge(
    settingsFor(url, { nano_dollars_per_day_max: 1_500_000n }),
    spend,
  )
  await judge(run, undefined, now_ms)
  expect(await judge(run, undefined, now_ms)).toEqual({
    findings: [],
    not_asked: 'the budget of the day is spent',
  })
  expect((await judge(run, undefined, now_ms + 86_400_000)).not_asked).toBeNull()
  expect(got).toHaveLength(2)
})

test.each([
  ['no JSON', 'I think so.', 200, 'the answer is not what was asked for'],
  ['an error', breach, 500, 'the endpoint answered 500'],
  ['a redirect', breach, 307, 'the endpoint answered 307'],
])('%s adds nothing', async (_what, content, status, not_asked) => {
  const { url } = await model(content, status)
  const judged = await createContextJudge(settingsFor(url), spendUpTo())(run, undefined, now_ms)
  expect(judged).toEqual({ findings: [], not_asked })
})

test.each(['127.0.0.1', 'localhost'])('%s is not connected to unless it is named', async (host) => {
  const { url, got } = await model(breach)
  const settings = settingsFor(url.replace('127.0.0.1', host), { allowed_hosts: [] })
  const { not_asked } = await createContextJudge(settings, spendUpTo())(run, undefined, now_ms)
  expect(not_asked).toMatch(/public/)
  expect(got).toEqual([])
})

test('a run in which nothing was said to keep costs nothing', async () => {
  const { url, got } = await model(breach)
  const plain = runOf(agentRun('plain').user('Hello').assistant('Hello!'))
  const spend = spendUpTo()
  await createContextJudge(settingsFor(url), spend)(plain, undefined, now_ms)
  expect([got.length, spend.booked.size]).toEqual([0, 0])
})
