export { type AllowedNetwork, parseAllowedNetwork } from './address-policy.ts'
export {
  type Address,
  type Outbound,
  OutboundFailed,
  type OutboundFailure,
  type OutboundReply,
  type OutboundRequest,
  openOutbound,
} from './outbound.ts'
