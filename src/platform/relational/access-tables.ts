import type { SignInTables } from './tables/sign-in-tables.ts'
import type { TenantTables } from './tables/tenant-tables.ts'

/** The tables of sign-in and access control. */
export type AccessTables = TenantTables & SignInTables
