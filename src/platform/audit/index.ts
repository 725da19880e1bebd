export {
  AuditedCall,
  type AuditStatement,
  type AuditTrail,
  type CreatedRow,
  currentCall,
  noteAfter,
  noteBefore,
  runForChain,
  runInCall,
  scopeTrail,
} from './audited-call.ts'
export { isChange } from './changed-tables.ts'
