import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import {
  createServiceClient,
  defaultOperatorSettings,
  type Kind,
  type OperatorSettings,
} from '../../../src/operator/index.ts'
import { type Operator, startOperator } from '../../../src/operator/runtime/start-operator.ts'
import type { ServiceClient } from '../../../src/operator/service/service-client.ts'
import { type KubeClient, openKube } from '../../../src/platform/kube/index.ts'
import { createMetrics, type Metrics } from '../../../src/platform/telemetry/index.ts'
import { countedKube, countedService, type OnWrite } from './counted-clients.ts'
import { scaledTiming } from './scaled-timing.ts'

/** An operator in this process, on real clients. */
export type TestOperator = AsyncDisposable & {
  operator: Operator
  metrics: Metrics
  /** Its writes so far, in order: `apply notes`, `PUT /notes/n1`. */
  writes: string[]
  /** All log lines so far. */
  logged(): string
  stop(): Promise<void>
}

export type TestOperatorOptions = {
  kubeconfig: string
  service_url: string
  service_key?: string
  kinds: readonly Kind[]
  /** Speed of its clock: back-offs, leases and idle times have the product's values. */
  times?: number
  settings?: Partial<OperatorSettings>
  onWrite?: OnWrite
  /** Wraps the operator's clients. */
  clients?: (clients: Clients) => Clients
}

type Clients = { kube: KubeClient; service: ServiceClient }

const kube_timeout_ms = 5_000

/** Starts an operator; without leader election unless the settings enable it. */
export function startTestOperator(options: TestOperatorOptions): TestOperator {
  const { times = 20, onWrite, clients = (given: Clients) => given } = options
  const timing = scaledTiming(times)
  const writes: string[] = []
  const lines: string[] = []
  const recordWrite = async (what: string) => {
    writes.push(what)
    await onWrite?.(what)
  }
  const logger = pino(
    { level: 'debug' },
    new Writable({
      write: (line, _encoding, done) => {
        lines.push(String(line))
        done()
      },
    }),
  )
  const metrics = createMetrics()
  const service = createServiceClient({
    url: options.service_url,
    key: async () => options.service_key ?? 'none',
    timeout_ms: 10_000,
    requests_max: 8,
  })
  const operator = startOperator({
    ...clients({
      kube: countedKube(kubeAt(options.kubeconfig), recordWrite),
      service: countedService(service, recordWrite),
    }),
    kinds: options.kinds,
    timing,
    identity: `test-${randomUUID().slice(0, 8)}`,
    logger,
    metrics,
    settings: {
      ...defaultOperatorSettings,
      ...{ leader_election: undefined, presence: undefined },
      ...options.settings,
    },
  })
  const stop = () => operator.stop()
  return {
    ...{ operator, metrics, writes, stop },
    logged: () => lines.join(''),
    [Symbol.asyncDispose]: stop,
  }
}

/** The client reads the path from the environment when it is opened. */
function kubeAt(kubeconfig: string): KubeClient {
  const before = process.env['KUBECONFIG']
  process.env['KUBECONFIG'] = kubeconfig
  try {
    const clock = { now_ms: () => Date.now() }
    return openKube({ request_timeout_ms: kube_timeout_ms, clock })
  } finally {
    if (before === undefined) delete process.env['KUBECONFIG']
    else process.env['KUBECONFIG'] = before
  }
}
