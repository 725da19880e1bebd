-- A merge keeps of each row which insert brought it. By that a DELETE can note the rows of a partition
-- in a small part of its own (a "patch part", from ClickHouse 25.8 on), where it else makes every part
-- of the table anew: docs/decisions/0022.
alter table {{table:observations}} {{on_cluster}}
    modify setting enable_block_number_column = 1, enable_block_offset_column = 1
-- statement
alter table {{table:traces}} {{on_cluster}}
    modify setting enable_block_number_column = 1, enable_block_offset_column = 1
-- statement
alter table {{table:events}} {{on_cluster}}
    modify setting enable_block_number_column = 1, enable_block_offset_column = 1
-- statement
alter table {{table:links}} {{on_cluster}}
    modify setting enable_block_number_column = 1, enable_block_offset_column = 1
-- statement
alter table {{table:correlations}} {{on_cluster}}
    modify setting enable_block_number_column = 1, enable_block_offset_column = 1
