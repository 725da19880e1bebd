/** Severities from the worst one. */
export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const
export type SeverityName = (typeof severities)[number]
