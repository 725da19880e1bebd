export { openEnvelope } from './statement/envelope.ts'
export { readPublicKeys } from './statement/public-keys.ts'
export { readStatement, type Statement, statementPayloadType } from './statement/statement.ts'
export { StatementFault } from './statement/statement-fault.ts'
