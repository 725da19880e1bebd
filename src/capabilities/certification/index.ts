export { type Envelope, openEnvelope, signEnvelope } from './statement/envelope.ts'
export { type PublicKeys, readKeyId, readPublicKeys, toJwks } from './statement/public-keys.ts'
export { readStatement, type Statement, statementPayloadType } from './statement/statement.ts'
export { StatementFault } from './statement/statement-fault.ts'
