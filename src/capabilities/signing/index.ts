export { type Envelope, openEnvelope, signEnvelope } from './envelope.ts'
export { type PublicKeys, readKeyId, readPublicKeys, toJwks } from './public-keys.ts'
export { StatementFault } from './statement-fault.ts'
