import type { Kind } from '../contract.ts'
import { projectGrantKind } from './project-grant/index.ts'
import { retentionPolicyKind } from './retention-policy/index.ts'
import { serviceAccountKind } from './service-account/index.ts'

/** Every kind; `make generate` writes this file from the folders beside it. */
export const kinds: readonly Kind[] = [projectGrantKind, retentionPolicyKind, serviceAccountKind]
