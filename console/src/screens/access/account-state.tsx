import type { ServiceAccount } from '../../api/schema.gen.d.ts'
import { Badge } from '../../ui/parts.tsx'

/** The state of an account: suspended before disabled before active. */
export function AccountState({ of }: { of: ServiceAccount }) {
  if (of.suspended_at !== null) return <Badge tone="bad">suspended</Badge>
  if (of.disabled_at !== null) return <Badge tone="warn">disabled</Badge>
  return <Badge tone="good">active</Badge>
}
