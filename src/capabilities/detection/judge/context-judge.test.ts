import { expect, test } from 'vitest'
import { agentRun } from '../../../../test/corpus/agent-run.ts'
import { runOf } from '../../../../test/support/detect-one.ts'
import {
  type ModelServer,
  materialOf,
  replyChat,
  serveModel,
} from '../../../../test/support/model-server.ts'
import { openChatModel } from '../../../platform/models/index.ts'
import { createContextJudge, type JudgeSpend } from './context-judge.ts'
import { buildQuestion, getJudgeableDigests } from './question.ts'

/** A model that answers with this content. */
const model = (content: string, status = 200) =>
  serveModel((response) =>
    status === 200 ? replyChat(response, content) : response.writeHead(status, redirect).end(),
  )
const redirect = { location: 'http://127.0.0.1:1/' }

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

const endpoint = {
  ...{ name: 'judge-1', type: 'openai' as const, model: 'gpt-judge', timeout_ms: 5_000 },
  ...{ use: ['lost_context'] as const, api_key: 'secret-of-the-judge' },
  ...{ cents_per_million_input: 100, cents_per_million_output: 100 },
}
type More = Partial<{ timeout_ms: number; max: bigint; spend: JudgeSpend; at_ms: number }>

/** Asks about the whole run. */
function asked({ url, outbound }: ModelServer, more: More = {}) {
  const { max = 10_000_000n, spend = spendUpTo(), timeout_ms = 5_000, at_ms = now_ms } = more
  const question = buildQuestion(run, undefined)
  if (question === undefined) throw new Error('there is nothing to ask')
  const settings = {
    model: openChatModel({ ...endpoint, url, timeout_ms }, outbound),
    nano_dollars_per_day_max: max,
  }
  return createContextJudge(settings, spend)({ run, question, now_ms: at_ms })
}

test('adds the breaches that the model names, marked as judged', async () => {
  await using server = await model(breach)
  const judgement = await asked(server)
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
  const [seen] = server.seen
  expect(seen).toMatchObject({
    ...{ path: '/v1/chat/completions', authorization: 'Bearer secret-of-the-judge' },
    body: { model: 'gpt-judge', response_format: { type: 'json_schema' } },
  })
  expect(seen && materialOf(seen)).toMatchObject({
    statements: [{ at: 0, role: 'system', quote: 'Always answer in French.' }],
    answers: [{ at: 0, holds: [0], text: 'Hello!' }],
  })
  expect(
    JSON.stringify(judgement, (_key, value) => (typeof value === 'bigint' ? '' : value)),
  ).not.toContain('secret-of')
})

test('ignores breaches of statements it was not given', async () => {
  await using server = await model('{"breaches":[{"statement":7,"answer":0,"why":"x"}]}')
  expect(await asked(server)).toEqual({ outcome: 'answered', findings: [] })
})

test('stops at the daily budget of a project', async () => {
  await using server = await model(breach)
  const about = { spend: spendUpTo(), max: 2_500_000n }
  await asked(server, about)
  expect(await asked(server, about)).toEqual({
    outcome: 'over_budget',
    reason: 'the daily budget is spent',
  })
  const tomorrow = { ...about, at_ms: now_ms + 86_400_000 }
  expect(await asked(server, tomorrow)).toMatchObject({ outcome: 'answered' })
  expect(server.seen).toHaveLength(2)
})

test.each([
  ['no JSON', 'I think so.', 200, 'model judge-1 did not answer in the requested form'],
  ['an error', breach, 401, 'model judge-1: the endpoint answered 401'],
  ['a redirect', breach, 307, 'model judge-1: the endpoint answered 307'],
])('%s adds nothing', async (_what, content, status, reason) => {
  await using server = await model(content, status)
  expect(await asked(server)).toEqual({ outcome: 'failed', reason })
})

test('fails if the model does not answer in time', async () => {
  await using server = await serveModel(() => undefined)
  const reason = 'model judge-1: it did not answer in time'
  expect(await asked(server, { timeout_ms: 100 })).toEqual({ outcome: 'failed', reason })
})

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
