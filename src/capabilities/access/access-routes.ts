import type { Route } from '../../platform/http/index.ts'
import type { Access } from './access.ts'

/** The routes of sign-in and of access control. */
export function accessRoutes(_access: Access): Route[] {
  return []
}
