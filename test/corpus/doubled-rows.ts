import type { Observation } from '../../src/model/observation.ts'
import { hexFrom } from './run-ids.ts'

/** Records each model call twice: as the client's span, and as the proxy's row nested under it. */
export function doubledByProxy(rows: Observation[]): Observation[] {
  const nested = rows
    .filter(({ type }) => type === 'generation')
    .map(
      (row): Observation => ({
        ...row,
        observation_id: hexFrom(16, 'nested', row.observation_id),
        parent_observation_id: row.observation_id,
        source: 'proxy',
        contract_version: 'proxy-v1',
        start_time: row.start_time + 2_000_000n,
        end_time: row.end_time - 2_000_000n,
        outcome: row.status === 'ok' ? 'complete' : 'provider_error',
        ...inChatFormat(row),
      }),
    )
  return [...rows, ...nested].sort((a, b) => Number(a.start_time - b.start_time))
}

/** Tools without a span. */
export function withoutTools(rows: Observation[]): Observation[] {
  return rows.filter(({ type }) => type !== 'tool')
}

type Part = {
  type: string
  content?: string
  id?: string
  name?: string
  arguments?: unknown
  response?: string
}

function inChatFormat({ input, output }: Observation): Pick<Observation, 'input' | 'output'> {
  return { input: chatText(input), output: chatText(output) }
}

function chatText(text: string): string {
  if (text === '') return ''
  const messages: { role: string; parts: Part[] }[] = JSON.parse(text)
  return JSON.stringify(messages.map(({ role, parts }) => chatMessage(role, parts)))
}

function chatMessage(role: string, parts: readonly Part[]): object {
  const [first] = parts
  if (role === 'tool') return { role, tool_call_id: first?.id, content: first?.response }
  const content = parts.find(({ type }) => type === 'text')?.content ?? null
  const calls = parts.filter(({ type }) => type === 'tool_call')
  if (calls.length === 0) return { role, content: content ?? '' }
  const tool_calls = calls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }))
  return { role, content, tool_calls }
}
