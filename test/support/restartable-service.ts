import { type Service, startService } from './service.ts'

type ReadAnew = 'base_url' | 'management_url' | 'otlp_grpc_address' | 'pid'

/** A role that can be killed or stopped and restarted on the same ports. */
export type RestartableService = Omit<Service, ReadAnew | 'ended'> & {
  readonly base_url: string
  readonly management_url: string
  readonly otlp_grpc_address: string
  /** Process id of the current process, or of the last one. */
  readonly pid: number
  /** Resolves when it is ready; the first start picks free ports. */
  start(env?: Record<string, string>): Promise<void>
}

/** Describes a role that `start` starts; `output` has the output of all of its processes. */
export function restartableService(role: string, env: Record<string, string>): RestartableService {
  let current: Service | undefined
  let before = ''
  const now = (): Service => {
    if (current === undefined) throw new Error(`role ${role} was never started`)
    return current
  }
  return {
    get base_url() {
      return now().base_url
    },
    get management_url() {
      return now().management_url
    },
    get otlp_grpc_address() {
      return now().otlp_grpc_address
    },
    get pid() {
      return now().pid
    },
    output: () => before + (current?.output() ?? ''),
    start: async (more = {}) => {
      const ports = current === undefined ? {} : portsOf(current)
      before += current?.output() ?? ''
      current = await startService(role, { ...env, ...ports, ...more })
    },
    stop: async (signal) => (current === undefined ? null : current.stop(signal)),
    kill: () => now().kill(),
  }
}

function portsOf({ base_url, management_url, otlp_grpc_address }: Service): Record<string, string> {
  return {
    ...(base_url && { LOOPTRACE_HTTP_PORT: new URL(base_url).port }),
    LOOPTRACE_MANAGEMENT_PORT: new URL(management_url).port,
    ...(otlp_grpc_address && { LOOPTRACE_OTLP_GRPC_PORT: otlp_grpc_address.replace(/^.*:/, '') }),
  }
}
