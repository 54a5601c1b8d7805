/** `*` is anything within a folder, `**` anything at all; a pattern without `/` fits in every folder, as in .gitignore. */
export function globToRegExp(pattern: string): RegExp {
  const source = pattern
    .split(/(\*\*\/|\*\*|\*)/)
    .map((part) => {
      if (part === '**/') return '(?:.*/)?';
      if (part === '**') return '.*';
      return part === '*' ? '[^/]*' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('');
  return new RegExp(`^${pattern.includes('/') ? '' : '(?:.*/)?'}${source}$`);
}
