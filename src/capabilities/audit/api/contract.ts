import { z } from 'zod'
import { decodeCursor, encodeCursor, invalidCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { Caller, RouteScope } from '../../../platform/http/index.ts'
import type { CheckpointSource } from '../checkpoints/outside-positions.ts'
import type { AuditDb } from '../trail/append.ts'
import { installationChain } from '../trail/chain-id.ts'

/** Dependencies of the audit routes. */
export type AuditDeps = {
  db: AuditDb
  clock: Clock
  /** Whether a user administers the installation. */
  isInstallationAdmin(user_id: string): Promise<boolean>
  /** Sinks of checkpoints that can be read back. */
  sources?: readonly CheckpointSource[]
  /** Time after which a check of a chain ends and reports the checked part. Default: 10,000. */
  verify_ms_max?: number
}

/** Administrators of the organization of the call's project. */
export const auditScope = { level: 'organization', role: 'admin' } as const satisfies RouteScope

/** Errors of the selection of a chain by the project of the call. */
export const chainErrors = ['project_not_found', 'project_required'] as const

/** Query parameter that selects the chain. */
export const chainQuery = {
  chain: z
    .enum(['organization', 'installation'])
    .default('organization')
    .describe(
      'The chain of the organization of the project, or of the installation: sign-ins, accounts, calls to unknown tenants. The latter is for administrators of the installation.',
    ),
}

/** Returns the chain of a call. Throws `permission_denied` for the installation's chain. */
export async function findChainId(
  { db, isInstallationAdmin }: AuditDeps,
  { chain, caller }: { chain: 'organization' | 'installation'; caller: Caller },
): Promise<string> {
  if (chain === 'installation') {
    if (await isInstallationAdmin(caller.id)) return installationChain
    throw problem('permission_denied', {
      detail: 'Only an administrator of the installation may read its chain',
    })
  }
  const row = await db
    .selectFrom('projects')
    .select('organization_id')
    .where('id', '=', caller.project_id)
    .executeTakeFirst()
  if (row === undefined) throw problem('project_not_found')
  return row.organization_id
}

/** Returns the number before which a page begins. Throws `invalid_cursor`. */
export function numberBefore(list: string, cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  const [before] = decodeCursor(list, cursor, 1)
  if (Number.isSafeInteger(before)) return Number(before)
  throw invalidCursor(cursor)
}

/** Returns the cursor after the last item of a page; null on the last page. */
export function cursorAfter(list: string, last: number | undefined): string | null {
  return last === undefined ? null : encodeCursor(list, [last])
}
