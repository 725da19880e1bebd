import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { PlainLogs, PlainTraces } from '../../support/otlp-messages.ts'
import type { RecordedExchange } from '../../support/provider-sessions.ts'
import type { ScriptedUsage } from './scripted-agent.ts'

/** What one stack sent: its model calls and its telemetry, in each case. */
export type Recording = {
  stack: string
  language: 'python' | 'node'
  /** Versions of the packages by name. */
  packages: Record<string, string>
  cases: RecordedCase[]
}

export const caseNames = ['loop', 'loop_streamed', 'work'] as const

export type RecordedCase = {
  name: (typeof caseNames)[number]
  /** The model calls in order, with the headers that say something about the client. */
  calls: (RecordedExchange & {
    request: { headers: Record<string, string> }
    usage: ScriptedUsage
  })[]
  /** The exports in order, as OTLP/JSON; `path` is that of the request. */
  exports: { path: string; headers: Record<string, string>; body: PlainTraces | PlainLogs }[]
  /** Other requests, such as metrics and the health checks of an SDK. */
  others: string[]
}

/** The folder of the recordings. */
export const recordingsFolder = join(import.meta.dirname, '../../fixtures/emissions')

const ending = '.json.gz'

/** Returns the names of the stacks that were recorded, sorted. */
export function recordedStacks(): string[] {
  return readdirSync(recordingsFolder)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .toSorted()
}

/** Reads the recording of a stack. */
export function readRecording(stack: string): Recording {
  const bytes = readFileSync(join(recordingsFolder, `${stack}${ending}`))
  return JSON.parse(gunzipSync(bytes).toString('utf8')) as Recording
}
