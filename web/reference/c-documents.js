// include/headwise.h as Markdown documents: one for each of its sections, a heading for each declaration, the comments as
// text and the declarations word for word, but for the macro HW_API.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const SECTION = /^\/\* ---- (.+?) -+ \*\/$/gm;
const BLOCK = /^(?:\/\*\s?(?<comment>[^]*?)\s*\*\/\n)?(?<code>[^]+)$/;
/** What a declaration is called: a function, a macro, a type. */
const NAMES = [
  /^#define (HW_\w+)/gm,
  /^(?:\w+ )*\*?(hw_\w+)\(/gm,
  /^typedef (?:struct|enum) \w+ (\w+);/gm,
  /^\} (\w+);/gm,
];

/** @typedef {{ names: string[], comment: string, code: string }} Declaration */
/** @typedef {{ title: string, subject: string, file: string, declarations: Declaration[] }} Section */

/** @param {string} title */
const fileOf = (title) => `${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}.md`;

/** Without the macro of visibility; what follows a line that had it stays aligned. @param {string} text */
const withoutApi = (text) =>
  text.replaceAll(/^HW_API ([^;]*;)/gm, (_, code) => code.replaceAll('\n       ', '\n'));

/** @param {string} text of a block of the header, which ends at an empty line outside of comments and braces */
function declarationOf(text) {
  const { comment, code } = /** @type {any} */ (BLOCK.exec(text)).groups;
  const names = NAMES.flatMap((pattern) => [...code.matchAll(pattern)].map(([, name]) => name));
  if (comment === undefined) throw new Error(`headwise.h: ${names.join(', ')} has no comment`);
  if (names.length === 0) throw new Error(`headwise.h: nothing is declared by\n${code}`);
  return { names, comment, code };
}

/**
 * @param {string} header its text
 * @returns {{ about: string, sections: Section[] }} about: the comment that it begins with
 */
export function readHeader(header) {
  const [, about] = /** @type {RegExpExecArray} */ (/^\/\*([^]*?)\*\//.exec(header));
  const [, ...parts] = header.replace(/\n#ifdef __cplusplus\n}[^]*$/, '').split(SECTION);
  const sections = [];
  for (let i = 0; i < parts.length; i += 2) {
    const [title, subject = ''] = parts[i].split(/: (.*)/);
    const declarations = withoutApi(parts[i + 1])
      .trim()
      .split(/\n\n(?=\S)/)
      .map(declarationOf);
    sections.push({ title, subject, file: fileOf(title), declarations });
  }
  return { about, sections };
}

/** The place of a heading as TypeDoc names it. @param {string[]} names */
const placeOf = (names) => names.join(', ').toLowerCase().replaceAll(',', '').replaceAll(' ', '-');

/** @param {Section[]} sections @returns {Map<string, string>} addresses of what is declared */
const addressesOf = (sections) =>
  new Map(
    sections.flatMap(({ file, declarations }) =>
      declarations.flatMap(({ names, code }) => [
        ...names.map(
          (name) => /** @type {[string, string]} */ ([name, `${file}#${placeOf(names)}`]),
        ),
        // An enum's values are shown with it.
        ...[...code.matchAll(/^ {2}(HW_\w+) =/gm)].map(
          ([, value]) => /** @type {[string, string]} */ ([value, `${file}#${placeOf(names)}`]),
        ),
      ]),
    ),
  );

/**
 * Text for Markdown: what it could take for markup is escaped, names become code, and links.
 * @param {string} text
 * @param {Map<string, string>} addresses
 */
const prose = (text, addresses) =>
  text.replaceAll(/`[^`]*`|(?<!\w)\*?[a-zA-Z][\w.]*_\w+|[\\`*<>[\]_]/g, (found) => {
    if (found.length === 1) return `\\${found}`;
    if (found.startsWith('`')) return found;
    const address = addresses.get(found);
    return address === undefined ? `\`${found}\`` : `[${found}](${address})`;
  });

/**
 * A comment as Markdown: lines that are indented stay as they are, unless they go on with an item of a list.
 * @param {string} comment without its first and last mark
 * @param {Map<string, string>} addresses
 */
function markdown(comment, addresses) {
  /** @type {string[]} */
  const lines = [];
  let inList = false;
  let inTable = false;
  for (const line of comment.split('\n').map((each) => each.replace(/^ \* ?/, ''))) {
    inList = line.startsWith('- ') || (inList && line.startsWith('  '));
    const isTable = !inList && line.startsWith('  ');
    if (isTable !== inTable) lines.push(...(isTable ? ['', '```c'] : ['```', '']));
    inTable = isTable;
    lines.push(isTable ? line.slice(2) : prose(line, addresses));
  }
  const text = [...lines, ...(inTable ? ['```'] : [])].join('\n').trim();
  // TypeDoc overlooks some links at the beginning of a line.
  return text.replaceAll(/(?<=\S)\n(?=\[hw_)/gi, ' ');
}

/** @param {Declaration} declaration @param {Map<string, string>} addresses */
const document = ({ names, comment, code }, addresses) => `## ${names.join(', ')}

\`\`\`c
${code}
\`\`\`

${markdown(comment, addresses)}
`;

/**
 * Writes index.md, which names the others as its children.
 * @param {string} header its text
 * @param {string} out a folder
 * @returns {Promise<string>} the file of index.md
 */
export async function writeDocuments(header, out) {
  const { about, sections } = readHeader(header);
  const addresses = addressesOf(sections);
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  for (const { title, subject, file, declarations } of sections) {
    const lead = `# ${title}\n${subject && `\n${prose(subject, addresses)}\n`}`;
    const texts = [lead, ...declarations.map((each) => document(each, addresses))];
    await writeFile(join(out, file), `---\ntitle: "${title}"\n---\n\n${texts.join('\n')}`);
  }
  const children = sections.map(({ file }) => `  - ./${file}\n`).join('');
  const contents = sections
    .map(
      ({ title, subject, file }) =>
        `- [${title}](${file})${subject && `: ${prose(subject, addresses)}`}\n`,
    )
    .join('');
  const index = join(out, 'index.md');
  await writeFile(
    index,
    `---\ntitle: headwise.h\nchildren:\n${children}---\n\n# headwise.h\n\n${markdown(about, addresses)}\n\n## Sections\n\n${contents}`,
  );
  return index;
}
