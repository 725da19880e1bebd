/** The kind of the jobs that delete what is due. */
export const retentionKind = 'retention'
