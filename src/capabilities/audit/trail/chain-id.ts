import { runForChain } from '../../../platform/audit/index.ts'

/** The chain of calls that belong to no organization: sign-ins, accounts, unknown tenants. */
export const installationChain = '00000000-0000-0000-0000-000000000000'

/** Returns the chain of an organization; null: the chain of the installation. */
export function chainOf(organization_id: string | null): string {
  return organization_id ?? installationChain
}

/** Runs work on one chain in the scope of its organization. */
export function runInChain<T>(chain_id: string, work: () => T): T {
  return runForChain(chain_id === installationChain ? null : chain_id, work)
}
