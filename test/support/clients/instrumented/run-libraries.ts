import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { openClickHouseStore } from '../../../../src/capabilities/storage/index.ts'
import type { Observation } from '../../../../src/model/observation.ts'
import type { FirstLogin } from '../../cluster.ts'
import { eventually } from '../../eventually.ts'
import { runPython, testPython } from '../../python.ts'
import type { Service } from '../../service.ts'
import { columnarAtRest, type SingleMachine, startSingleMachine } from '../../single-machine.ts'
import { type Api, apiByKey } from '../api-reader.ts'
import { instrumentedScript } from './instrumented-script.ts'

/** A library, and the program that runs under it. */
export type LibraryProgram = {
  library: string
  language: 'node' | 'python'
  /** A Node file, or the name of a Python tool. */
  program: string
  args?: readonly string[]
  env?: Record<string, string>
  /** Number of spans and log records that it sends. */
  items: number
}

/** The service's final data about a library's program. */
export type LibraryRun = {
  /** The rows of each case's trace in order of start. */
  rows: Record<string, Observation[]>
  /** The answers of the explain endpoint for each model call, by observation id. */
  explained: Record<string, Record<string, unknown>>
  /** The events of each case's trace. */
  events: Record<string, Record<string, unknown>[]>
}

export type LibraryRuns = {
  libraries: Map<string, LibraryRun>
  /** The ledger of path `otlp` after everything had arrived. */
  ledger: Record<string, unknown>
  requests_of_provider: number
}

/** The traces of each program by case, as it prints them. */
type Traces = Record<string, string>

/**
 * Runs each program against the scripted provider, exporting to its own service; reads the API, and
 * after the service has ended its store.
 */
export async function runLibraries(programs: readonly LibraryProgram[]): Promise<LibraryRuns> {
  await using machine = await startSingleMachine({
    env: { LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0' },
    script: instrumentedScript,
  })
  const api = apiByKey({ api_url: machine.service.base_url, login: machine.login })
  const traces = new Map<string, Traces>()
  // Built once, before several programs need it at the same time.
  await testPython()
  const runs = programs.map(async (program) => {
    traces.set(program.library, await runProgram(machine, program))
  })
  await Promise.all(runs)
  const ledger = await settledLedger(api, programs)
  const { requests } = await machine.provider.seen()
  const answers = new Map<string, Pick<LibraryRun, 'events' | 'explained'>>()
  for (const [library, of] of traces) answers.set(library, await readAnswers(api, of))
  await machine.service.stop()
  const rows = await rowsAtRest(machine, traces)
  const libraries = new Map<string, LibraryRun>()
  for (const [library, about] of answers) {
    libraries.set(library, { ...about, rows: rows.get(library) ?? {} })
  }
  return { libraries, ledger, requests_of_provider: requests.length }
}

/** Runs a Node program that exports to the service of the machine. */
export function runInstrumented(
  { service, login }: Exported,
  program: string,
  args: readonly string[],
): Promise<string> {
  return runNode(program, args, exporting({ service, login }))
}

/** What an exporter needs of a machine. */
type Exported = { service: Pick<Service, 'base_url'>; login: Pick<FirstLogin, 'project_key'> }

function exporting({ service, login }: Exported) {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: service.base_url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${login.project_key}`,
    OTEL_SERVICE_NAME: 'parcel-desk',
  }
}

async function runProgram(
  { service, login, provider }: SingleMachine,
  { language, program, args = [], env = {} }: LibraryProgram,
): Promise<Traces> {
  const variables = { ...exporting({ service, login }), ...env }
  const all = [...args, provider.base_urls.openai]
  const run = language === 'node' ? runNode : runPython
  return JSON.parse(await run(program, all, variables))
}

const run = promisify(execFile)

async function runNode(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const limits = { timeout: 60_000 }
  const { stdout } = await run(process.execPath, [program, ...args], { env, ...limits })
  return stdout
}

function settledLedger(
  api: Api,
  programs: readonly LibraryProgram[],
): Promise<Record<string, unknown>> {
  const items = programs.reduce((sum, program) => sum + program.items, 0)
  return eventually(
    `${items} items of the ledger stored, none pending`,
    async () => {
      const { body } = await api.get('/api/v2/observability/ledger')
      const paths = body['paths'] as Record<string, unknown>[]
      const otlp = paths.find(({ path }) => path === 'otlp')
      // Metrics of an instrumentation are rejected with a sentence; spans and log records are stored.
      return otlp?.['stored'] === items && otlp['pending'] === 0 && otlp
    },
    { timeout_ms: 20_000, interval_ms: 100 },
  )
}

async function readAnswers(
  api: Api,
  traces: Traces,
): Promise<Pick<LibraryRun, 'events' | 'explained'>> {
  const events: LibraryRun['events'] = {}
  const explained: LibraryRun['explained'] = {}
  for (const [name, trace_id] of Object.entries(traces)) {
    const { body } = await api.get(`/api/v2/observability/traces/${trace_id}/events`)
    events[name] = body['events'] as LibraryRun['events'][string]
    for (const observation_id of await modelCalls(api, trace_id)) {
      const asked = new URLSearchParams({ trace_id, observation_id })
      const answer = await api.get(`/api/v2/observability/mappings/otlp/explain?${asked}`)
      explained[observation_id] = answer.body
    }
  }
  return { events, explained }
}

/** The trace is the implicit task. */
async function modelCalls(api: Api, trace_id: string): Promise<string[]> {
  const path = `/api/v1/tasks/${asUuid(trace_id)}/timeline`
  const entries = await eventually(`the timeline of ${trace_id}`, async () => {
    const { status, body } = await api.get(path)
    return status === 200 && (body['entries'] as { role: string; observation_id: string }[])
  })
  return entries.filter(({ role }) => role === 'model_call').map((call) => call.observation_id)
}

async function rowsAtRest(
  { directory, login }: SingleMachine,
  traces: ReadonlyMap<string, Traces>,
): Promise<Map<string, LibraryRun['rows']>> {
  await using columnar = await columnarAtRest(directory)
  const store = openClickHouseStore({ columnar })
  const found = new Map<string, LibraryRun['rows']>()
  for (const [library, of] of traces) {
    const rows: LibraryRun['rows'] = {}
    for (const [name, trace_id] of Object.entries(of)) {
      const lookup = { trace_id: asUuid(trace_id), limit: 100 }
      rows[name] = await store.traceObservations(login.project_id, lookup)
    }
    found.set(library, rows)
  }
  return found
}

function asUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
