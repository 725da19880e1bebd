export {
  AuditedCall,
  type AuditStatement,
  type AuditTrail,
  type CreatedRow,
  currentCall,
  noteAfter,
  noteBefore,
  runInCall,
} from './audited-call.ts'
export { isChange } from './changed-tables.ts'
export { runForChain, scopeTrail } from './scoped-trail.ts'
