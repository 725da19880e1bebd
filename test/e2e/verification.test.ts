import { expect, test } from 'vitest'
import { type Api, apiByToken } from '../support/clients/api-reader.ts'
import { eventually } from '../support/eventually.ts'
import { rawPost } from '../support/raw-post.ts'
import { startSingleMachine } from '../support/single-machine.ts'

const right = 'Invoice INV-2041 amounts to 1,250.50 euros.'
const answer = `${right} The late fee is 87.35 euros.`

const history = [
  { role: 'user', content: 'How much is invoice INV-2041?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'get_invoice', arguments: '{"id":"INV-2041"}' },
      },
    ],
  },
  {
    role: 'tool',
    tool_call_id: 'call_1',
    content: '{"id":"INV-2041","total":1250.5,"currency":"EUR"}',
  },
]

test('an answer through the proxy is verified within 5 s: the invented figure is marked', async () => {
  await using machine = await startSingleMachine({
    script: {
      steps: [
        { match: { last_tool_call_id: 'call_1' }, reply: { content: answer } },
        { match: { last_text_contains: 'amount only' }, reply: { content: right } },
      ],
    },
  })
  const { service, login } = machine
  const url = `${service.base_url}/v1/chat/completions`
  const key = { 'x-api-key': login.project_key, authorization: 'Bearer provider-key' }
  const ask = async (trace: string, more: object[] = []) => {
    const traceparent = `00-${trace}-00f067aa0ba902b7-01`
    const headers = { ...key, 'x-task-id': `task ${trace}`, traceparent }
    await rawPost(url, { model: 'gpt-4.1-mini', messages: [...history, ...more] }, headers).answer
  }
  const [invented, healthy] = [
    '4bf92f3577b34da6a3ce929d0e0e4736',
    '5bf92f3577b34da6a3ce929d0e0e4736',
  ]
  await ask(invented)
  await ask(healthy, [{ role: 'user', content: 'Tell me the amount only.' }])
  const api = await apiByToken({ api_url: service.base_url, login })
  const first = await verify(api, invented)
  expect(first.took_ms).toBeLessThan(5_000)
  expect(first.trace).toMatchObject({ status: 'verified', claims_total: 2, values_checked: 3 })
  expect(first.flagged).toMatchObject([
    {
      text: 'The late fee is 87.35 euros.',
      at: [right.length + 1, answer.length],
      verdict: 'not_found',
      results: [{ note: expect.stringContaining('not found in what the agent saw') }],
    },
  ])
  const twin = await verify(api, healthy)
  expect(twin.trace).toMatchObject({ status: 'verified', claims_total: 1, values_checked: 2 })
  expect(twin.flagged).toEqual([])
  const metrics = await (await fetch(`${service.management_url}/metrics`)).text()
  expect(metrics).toContain('looptrace_verification_runs_total{state="verified"} 2')
})

const flag = 'unsupported'
type Claim = { values: { verdict: string }[] }

/** Verifies a trace once it is stored, and waits for the end. */
async function verify(api: Api, trace: string) {
  const path = `/api/v1/verification/traces/${trace}`
  const body = { verifiers: ['kb'] }
  const started_ms = await eventually('the trace is stored', async () => {
    const { status } = await api.post(`${path}/verify`, body)
    return status === 202 && performance.now()
  })
  const ended = await eventually('the run ended', async () => {
    const reply = await api.get(path)
    return reply.body['status'] !== 'pending' && reply.body
  })
  const took_ms = performance.now() - started_ms
  const { claims } = (await api.get(`${path}/claims`)).body as { claims: Claim[] }
  const flagged = claims.filter(({ values }) => values.some(({ verdict }) => verdict === flag))
  return { took_ms, trace: ended, flagged }
}
