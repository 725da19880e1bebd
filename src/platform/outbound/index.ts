export { parseAllowedNetwork, portsOf } from './address-policy.ts'
export {
  type Outbound,
  type OutboundReply,
  openOutbound,
} from './outbound.ts'
export { OutboundFailed, type OutboundFailure } from './outbound-failed.ts'
export { type Address, isTarget } from './reachable-addresses.ts'
export { signingBytes, signWebhook } from './webhook-signature.ts'
