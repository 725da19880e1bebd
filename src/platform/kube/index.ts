export type { Secret, SecretClient, SecretDraft } from './secrets.ts'
