import { readFileSync } from 'node:fs'
import type { Observation } from '../../src/model/observation.ts'
import { proxyRows } from '../../test/corpus/proxy-rows.ts'
import type {
  ChatMessage,
  DeclaredToolOption,
  RecordedCall,
  RecordedRun,
} from '../../test/corpus/recorded-run.ts'
import { hexFrom } from '../../test/corpus/run-ids.ts'
import { readRecords } from '../verification/packed-records.ts'

/** A fault of a run, and the message that shows it, counted from 0. */
type Fault = { kind: string; at_message: number; why?: string }

/** A labelled run of a customer-service agent, as its writer wrote it. */
export type ServiceRun = {
  id: string
  outcome: 'healthy' | 'faulty'
  fault: Fault | null
  tools: readonly { function: DeclaredToolOption }[]
  messages: readonly ChatMessage[]
}

/** Reads labelled runs: JSON lines, packed with gzip if the name ends in `.gz`. */
export function readServiceRuns(file: string): ServiceRun[] {
  if (file.endsWith('.gz')) return readRecords<ServiceRun>(file)
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line.trim() !== '').map((line): ServiceRun => JSON.parse(line))
}

/** Returns the rows that the proxy stores for a run: one call for each answer. */
export function rowsOf(run: ServiceRun): Observation[] {
  return proxyRows(toRecordedRun(run))
}

/** Returns the step of the answer that is this message, or the last one before it. */
export function stepOfMessage({ messages }: ServiceRun, at: number): number {
  return messages.slice(0, at + 1).filter(({ role }) => role === 'assistant').length - 1
}

const call_ns = 1_200_000_000n
const gap_ns = 400_000_000n
const start_time = 1_790_000_000_000_000_000n

function toRecordedRun(run: ServiceRun): RecordedRun {
  const agent = { index: 0, name: 'main', parent: null }
  const calls = run.messages.flatMap((answer, at): Omit<RecordedCall, 'index' | 'start_time'>[] => {
    if (answer.role !== 'assistant') return []
    const messages = run.messages.slice(0, at)
    const finish_reason = (answer.tool_calls ?? []).length > 0 ? 'tool_calls' : 'stop'
    return [
      {
        agent,
        messages,
        answer,
        finish_reason,
        error: undefined,
        streamed: false,
        end_time: 0n,
        input_tokens: countTokens(messages),
        output_tokens: countTokens([answer]),
      },
    ]
  })
  return {
    name: run.id,
    project_id: '0198c0de-0000-7000-8000-00000000000a',
    task_id: `task-${hexFrom(12, run.id)}`,
    task_name: '',
    conversation_id: '',
    provider: 'openai',
    model: 'gpt-4o-mini',
    declared: run.tools.map(({ function: tool }) => tool),
    agents: [agent],
    tools: [],
    calls: calls.map((call, index) => {
      const start = start_time + BigInt(index) * (call_ns + gap_ns)
      return { ...call, index, start_time: start, end_time: start + call_ns }
    }),
  }
}

/** About four characters each, as in English. */
function countTokens(messages: readonly ChatMessage[]): number {
  return Math.ceil(JSON.stringify(messages).length / 4)
}
