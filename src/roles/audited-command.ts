import { hostname, userInfo } from 'node:os'
import { openAuditTrail } from '../capabilities/audit/index.ts'
import { newId } from '../kernel/ids.ts'
import type { AuditOutcome } from '../model/audit-entry.ts'
import { AuditedCall, runInCall } from '../platform/audit/index.ts'
import { runInInstallation } from '../platform/tenancy/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

type CommandName = 'migrate' | 'move' | 'repair' | 'reset-password'

/** A command that changes the stores without the API. */
type AuditedCommand<T> = {
  name: CommandName
  resource_type: string
  resource_id: string | null
  work: (call: Pick<AuditedCall, 'noteChange'>) => Promise<T>
  /**
   * Returns the outcome to record if no transaction of `work` changed anything; undefined to record
   * nothing.
   */
  outcomeOf: (result: T) => { outcome: AuditOutcome; code?: string } | undefined
}

/**
 * Runs a command. The first transaction with a change also writes the audit record, in the chain
 * of the installation.
 */
export function runAudited<T>(deps: CommandDeps, command: AuditedCommand<T>): Promise<T> {
  return runInInstallation('a command for the installation', () => run(deps, command))
}

type CommandDeps = Pick<RoleContext, 'clock'> & Pick<Stores, 'db'>

async function run<T>(
  { clock, db }: CommandDeps,
  { name, work, outcomeOf, ...resource }: AuditedCommand<T>,
): Promise<T> {
  const { resource_type, resource_id } = resource
  const call = new AuditedCall(openAuditTrail(db), {
    recorded_at: new Date(clock.now_ms()).toISOString(),
    action: `command.${name}`,
    resource_type,
    resource_id,
    request_id: newId(),
    origin: { address: hostname(), user_agent: `looptrace ${name} (${systemUser()})` },
    user_agent: null,
    is_collection: false,
  })
  call.noteActor('command', name)
  const result = await runInCall(call, () => call.change(() => work(call)))
  if (call.isRecorded) return result
  const unchanged = outcomeOf(result)
  if (unchanged !== undefined) await call.record(unchanged.outcome, unchanged.code ?? null)
  return result
}

/** Returns the name of the system's user; its number, if a container has no name for it. */
function systemUser(): string {
  try {
    return `user ${userInfo().username}`
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
