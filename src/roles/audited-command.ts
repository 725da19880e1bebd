import { hostname, userInfo } from 'node:os'
import { openAuditTrail } from '../capabilities/audit/index.ts'
import { newId } from '../kernel/ids.ts'
import { AuditedCall, runInCall } from '../platform/audit/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

type CommandName = 'migrate' | 'move' | 'reset-password'

/**
 * Runs a command that changes the stores without the API. Its first transaction that changes
 * something takes the audit record, in the chain of the installation. A command that changes
 * nothing has no record, unless `work` records the call.
 */
export function runAudited<T>(
  { clock, db }: Pick<RoleContext, 'clock'> & Pick<Stores, 'db'>,
  command: { name: CommandName; resource_type: string; resource_id: string | null },
  work: (call: AuditedCall) => Promise<T>,
): Promise<T> {
  const { name, ...resource } = command
  const call = new AuditedCall(openAuditTrail(db), {
    recorded_at: new Date(clock.now_ms()).toISOString(),
    action: `command.${name}`,
    ...resource,
    request_id: newId(),
    origin: { address: hostname(), user_agent: `looptrace ${name} (${systemUser()})` },
    user_agent: null,
    is_collection: false,
  })
  call.noteActor('command', name)
  return runInCall(call, () => call.change(() => work(call)))
}

/** Returns the name of the system's user; its number, if a container has no name for it. */
function systemUser(): string {
  try {
    return `user ${userInfo().username}`
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
