import type { TenantScope } from '../../src/platform/tenancy/index.ts'

/** The scope of handles that tests and benchmarks open themselves: rows of all tenants. */
export const allTenants: TenantScope = { kind: 'installation', reason: 'a test or benchmark' }
