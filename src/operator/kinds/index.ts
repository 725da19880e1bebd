import type { Kind } from '../contract.ts'
import { incidentRuleKind } from './incident-rule/index.ts'
import { notificationChannelKind } from './notification-channel/index.ts'
import { projectKind } from './project/index.ts'
import { projectGrantKind } from './project-grant/index.ts'
import { projectMemberKind } from './project-member/index.ts'
import { releasePolicyKind } from './release-policy/index.ts'
import { retentionPolicyKind } from './retention-policy/index.ts'
import { serviceAccountKind } from './service-account/index.ts'

/** Every kind; `make generate` writes this file from the folders beside it. */
export const kinds: readonly Kind[] = [
  incidentRuleKind,
  notificationChannelKind,
  projectKind,
  projectGrantKind,
  projectMemberKind,
  releasePolicyKind,
  retentionPolicyKind,
  serviceAccountKind,
]
