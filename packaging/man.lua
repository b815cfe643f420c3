-- Makes a manual page of a page of docs/: its title becomes NAME, its first lines of code SYNOPSIS, each
-- table a list, since a manual page is too narrow for its columns; links to other pages are their text.
-- Metadata: `summary`, the line of NAME; `also`, the text of SEE ALSO.

local function text(of)
  return pandoc.utils.stringify(of)
end

local function heading(of)
  return pandoc.Header(1, { pandoc.Str(of) })
end

-- The lines of a table: what stands in its first column, and what the others say of that.
local function definition(row, names)
  local meaning = pandoc.Inlines({})
  for column = 2, #row do
    local cell = row[column]
    if #cell > 0 and #cell[1].content > 0 then
      local name = text(names[column])
      if #meaning > 0 then meaning:extend({ pandoc.Str(";"), pandoc.Space() }) end
      if name ~= "" and (column > 2 or #row > 2 and name ~= "meaning") then
        meaning:extend({ pandoc.Str(name .. ":"), pandoc.Space() })
      end
      meaning:extend(cell[1].content)
    end
  end
  return { row[1][1].content, { { pandoc.Plain(meaning) } } }
end

function Table(of)
  local it = pandoc.utils.to_simple_table(of)
  local lines = {}
  for _, row in ipairs(it.rows) do
    if #row[1] > 0 then lines[#lines + 1] = definition(row, it.headers) end
  end
  return pandoc.DefinitionList(lines)
end

function Link(of)
  return of.content
end

function Code(of)
  return pandoc.Strong({ pandoc.Str(of.text) })
end

local function begin(blocks, summary)
  local page = pandoc.Blocks({ heading("NAME"), pandoc.Para(summary) })
  local first = 2 -- Behind the title.
  if blocks[2].t == "CodeBlock" then
    page:extend({ heading("SYNOPSIS"), blocks[2] })
    first = 3
  end
  page:insert(heading("DESCRIPTION"))
  return page, first
end

function Pandoc(of)
  local page, first = begin(of.blocks, of.meta.summary)
  for i = first, #of.blocks do
    local block = of.blocks[i]
    if block.t == "Header" then
      block.level = block.level - 1
      if block.level == 1 then
        block = block:walk({ Str = function(word) return pandoc.Str(pandoc.text.upper(word.text)) end })
      end
    end
    page:insert(block)
  end
  page:extend({ heading("SEE ALSO"), pandoc.Para(of.meta.also) })
  return pandoc.Pandoc(page, of.meta)
end
